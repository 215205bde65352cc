import { get } from '../api/client.ts';
import type { AgentList } from '../api/types.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { clip } from './format.ts';

/** A form field to select one of the agents this server knows. */
export function AgentSelect({ chosen }: { chosen?: string | undefined }) {
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  return (
    <label>
      <span>Agent</span>
      <select name="agent" required>
        {agents.data?.data.map(({ name, model }) => (
          <option key={name} value={name} selected={name === chosen}>
            {name} ({clip(model, 40)})
          </option>
        ))}
      </select>
    </label>
  );
}
