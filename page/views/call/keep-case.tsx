import { useSignal } from '@preact/signals';
import { get, post } from '../../api/client.ts';
import type { Case, DatasetList, ModelCall } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { useLoaded } from '../../state/use-loaded.ts';

export interface KeepCaseProps {
  call: ModelCall;
  /** Whether the case asks for the answer of the call, or for that of its whole run. */
  asks: Case['kind'];
  /** A better answer, which may become what is expected. */
  answer?: string;
  /** Accessible name, if several buttons have the same text. */
  label?: string;
}

/** Keeps the call or its run as a case of a dataset, with what the answer should have been. */
export function KeepCase({ call, asks, answer, label }: KeepCaseProps) {
  const kept = useSignal<Case | undefined>(undefined);
  return (
    <div class="actions">
      <DialogButton
        title={asks === 'call' ? 'Keep this call as a case' : 'Keep this run as a case'}
        button="Keep as case"
        label={label}
        submit="Keep"
        onSubmit={async (fields) => {
          const parts = (name: string, separator: RegExp) =>
            String(fields.get(name))
              .split(separator)
              .map((part) => part.trim())
              .filter(Boolean);
          const contains = parts('contains', /\n/);
          const rubric = String(fields.get('rubric')).trim();
          const whole = String(fields.get('answer') ?? '').replaceAll('\r\n', '\n');
          const expected = {
            ...(whole.trim() === '' ? {} : { answer: whole }),
            ...(contains.length > 0 ? { contains } : {}),
            ...(rubric === '' ? {} : { rubric }),
          };
          kept.value = await post<Case>('/v1/cases', {
            thread_id: call.thread_id,
            ...(asks === 'call' ? { llm_call_id: call.llm_call_id } : { run_id: call.run_id }),
            dataset: String(fields.get('dataset')).trim(),
            tags: parts('tags', /,/),
            ...(Object.keys(expected).length > 0 ? { expected } : {}),
          });
        }}
      >
        <Dataset />
        <label>
          <span>Tags, separated by commas</span>
          <input name="tags" placeholder="billing, refund" />
        </label>
        {answer !== undefined && (
          <label>
            <span>The answer must be (empty: see below)</span>
            <textarea name="answer" rows={4} defaultValue={answer} />
          </label>
        )}
        <label>
          <span>The answer must contain (one phrase per line)</span>
          <textarea name="contains" rows={3} />
        </label>
        <label>
          <span>Rubric, by which a judge scores the answer</span>
          <textarea name="rubric" rows={3} />
        </label>
        <p>
          {asks === 'call'
            ? 'Evals of the dataset ask for this answer again, with exactly these messages.'
            : 'Evals of the dataset ask the question of the run again, on the context that it had.'}
        </p>
      </DialogButton>
      <span role="status">{kept.value && `Kept as a case of ${kept.value.dataset}: ${kept.value.id}`}</span>
    </div>
  );
}

function Dataset() {
  const known = useLoaded<DatasetList>((signal) => get('/v1/datasets', {}, signal), []);
  return (
    <label>
      <span>Dataset</span>
      <input name="dataset" required list="datasets" />
      <datalist id="datasets">
        {[...new Set(known.data?.data.map(({ dataset }) => dataset))].map((dataset) => (
          <option key={dataset} value={dataset} />
        ))}
      </datalist>
    </label>
  );
}
