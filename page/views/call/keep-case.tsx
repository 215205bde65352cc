import { useSignal } from '@preact/signals';
import { get, post } from '../../api/client.ts';
import type { Case, DatasetList, ModelCall } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { useLoaded } from '../../state/use-loaded.ts';

export interface KeepCaseProps {
  call: ModelCall;
}

/** Keeps the call as a case of a dataset, with what its answer should have been. */
export function KeepCase({ call }: KeepCaseProps) {
  const kept = useSignal<Case | undefined>(undefined);
  return (
    <div class="actions">
      <DialogButton
        title="Keep this call as a case"
        button="Keep as case"
        submit="Keep"
        onSubmit={async (fields) => {
          const parts = (name: string, separator: RegExp) =>
            String(fields.get(name))
              .split(separator)
              .map((part) => part.trim())
              .filter(Boolean);
          const contains = parts('contains', /\n/);
          const rubric = String(fields.get('rubric')).trim();
          const expected = { ...(contains.length > 0 ? { contains } : {}), ...(rubric === '' ? {} : { rubric }) };
          kept.value = await post<Case>('/v1/cases', {
            thread_id: call.thread_id,
            llm_call_id: call.llm_call_id,
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
        <label>
          <span>The answer must contain (one phrase per line)</span>
          <textarea name="contains" rows={3} />
        </label>
        <label>
          <span>Rubric, by which a judge scores the answer</span>
          <textarea name="rubric" rows={3} />
        </label>
        <p>Evals of the dataset ask for this answer again, with exactly these messages.</p>
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
