import type { ModelCall } from '../../api/types.ts';
import { href } from '../../state/route.ts';
import { causes } from '../marks/words.ts';

/** Where what the provider had cached of the call before ends, and why. What a policy left out is named beside it. */
export function PrefixBreak({ call: { thread_id: threadId, prefix_break: broken } }: { call: ModelCall }) {
  if (broken === null) return null;
  const cause = causes[broken.cause];
  return (
    <div class="notice">
      Cache missed from message {broken.position + 1} on, which the call before did not have there:{' '}
      {broken.cause === 'policy' ? (
        cause
      ) : (
        <a href={href('threads', threadId, { at: String(broken.seq) })}>
          {cause} at entry #{broken.seq}
        </a>
      )}
      .
    </div>
  );
}
