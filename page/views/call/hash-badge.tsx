import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ModelCall } from '../../api/types.ts';
import { verify, type Verdict } from './verify.ts';

const words: Record<Verdict, string> = {
  verified: 'Hash verified',
  altered: 'Hash differs',
  unknown: 'Hash not checked: requires HTTPS',
};

const reasons = {
  transformed:
    'A request transformer changed these messages before they were sent, and the log does not have the result.',
  output_contract: 'The call also sent the instructions of its output contract, which this server does not know.',
  mismatch: 'These messages are not the ones that were sent.',
};

/** Shows whether the displayed messages are byte for byte what was sent. */
export function HashBadge({ call }: { call: ModelCall }) {
  const verdict = useSignal<Verdict | undefined>(undefined);
  useEffect(() => {
    void verify(call.messages, call.context_hash).then((found) => (verdict.value = found));
  }, [call]);
  if (verdict.value === undefined) return <span class="status idle">Checking…</span>;
  const tone = verdict.value === 'verified' ? 'good' : verdict.value === 'altered' ? 'bad' : 'idle';
  return (
    <span class="hash">
      <span class={`status ${tone}`} data-verdict={verdict.value}>
        {words[verdict.value]}
      </span>
      <code title={`SHA-256 ${call.context_hash}`}>{call.context_hash.slice(0, 12)}</code>
      {verdict.value === 'altered' && <span class="why">{reasons[call.unverified_because ?? 'mismatch']}</span>}
    </span>
  );
}
