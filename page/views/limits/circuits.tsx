import { get, post, v1 } from '../../api/client.ts';
import type { Circuit, CircuitList } from '../../api/types.ts';
import { Facts, Tag, Time } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { number } from '../../parts/format.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const refreshMs = 2_000;

/** The models that workers call. Without the right to see them, and without models, there is nothing to show. */
export function Circuits() {
  const loaded = useLoaded<CircuitList>((signal) => get('/v1/circuits', {}, signal), [], { everyMs: refreshMs });
  const circuits = loaded.data?.data ?? [];
  if (circuits.length === 0) return null;
  return (
    <section aria-labelledby="circuits">
      <h2 id="circuits">Models</h2>
      {circuits.map((circuit) => (
        <CircuitCard key={circuit.model} circuit={circuit} onChange={loaded.reload} />
      ))}
    </section>
  );
}

const states: Record<Circuit['state'], string> = {
  closed: 'Calls are made',
  open: 'Calls are held back',
  half_open: 'One call probes',
};

function CircuitCard({ circuit, onChange }: { circuit: Circuit; onChange: () => Promise<void> }) {
  const { model, state, calls, failed, reason, opened_at: since, open_until: until, opened_by: by } = circuit;
  return (
    <section aria-labelledby={`circuit-${model}`} class="card" data-circuit={model}>
      <div class="heading">
        <h3 id={`circuit-${model}`}>{model}</h3>
        {state !== 'closed' && <Tag title="Why calls are held back">{reason}</Tag>}
        <div class="actions">
          <TurnButton circuit={circuit} onChange={onChange} />
        </div>
      </div>
      <Facts
        items={[
          ['State', states[state]],
          ['Failed', `${number(failed)} of ${number(calls)} calls`],
          ['Since', since && <Time at={since} />],
          ['Probed from', until && <Time at={until} />],
          ['By', by],
        ]}
      />
    </section>
  );
}

/** Holds calls back by hand, or lets them through again. */
function TurnButton({ circuit: { model, state }, onChange }: { circuit: Circuit; onChange: () => Promise<void> }) {
  const closes = state !== 'closed';
  const word = closes ? 'Call again' : 'Hold back';
  return (
    <DialogButton
      title={`${word}: ${model}`}
      button={word}
      label={`${word} ${model}`}
      submit={word}
      kind="small"
      onSubmit={async (fields) => {
        const path = v1('circuits', model, closes ? 'close' : 'open');
        await post(path, closes ? undefined : { reason: String(fields.get('reason')) });
        await onChange();
      }}
    >
      {closes ? (
        <p>Calls are made and counted afresh; the runs that wait continue.</p>
      ) : (
        <label>
          <span>Reason</span>
          <input name="reason" required />
        </label>
      )}
    </DialogButton>
  );
}
