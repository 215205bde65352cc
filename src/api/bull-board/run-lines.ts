import { oneLine } from '../../log/printable.ts';
import type { RunEvent } from '../../store/trace/read-events.ts';

/** The log lines of a run, made from its trace. Most kinds of events have none. */
export function runLines(events: readonly RunEvent[]): string[] {
  const begin = events[0]?.at.getTime() ?? 0;
  return events.flatMap((event) => {
    const what = describe(event);
    return what === undefined
      ? []
      : [`+${((event.at.getTime() - begin) / 1000).toFixed(2)} s  [${event.iteration}] ${what}`];
  });
}

function describe({ kind, data }: RunEvent): string | undefined {
  const text = (...path: string[]) => at(data, path);
  switch (kind) {
    case 'request_started':
      return 'started';
    case 'llm_completed':
      return `model ${text('turn_type') === 'tool_calls' ? 'asks for tools' : 'answers'} (${text('usage', 'input_tokens')} + ${text('usage', 'output_tokens')} tokens)`;
    case 'llm_retry':
      return `model call failed (${text('error', 'type')}), retrying`;
    case 'llm_lost':
      return 'model call lost with its worker, repeating it';
    case 'tool_completed':
      return `${text('tool_name')}: ${text('status')} in ${text('duration_ms')} ms${Number(data['attempts']) > 1 ? `, ${text('attempts')} attempts` : ''}`;
    case 'approval_requested':
      return `waits for approval of ${text('tool_name')}`;
    case 'approval_decided':
      return `${text('tool_name')} ${text('decision')}`;
    case 'handed_over':
      return `handed over from ${text('from')} to ${text('to')}`;
    case 'worker_lost':
    case 'run_delayed':
    case 'limit_reached':
    case 'database_restored':
    case 'compaction_failed':
      return kind.replaceAll('_', ' ');
    case 'request_completed':
    case 'request_cancelled':
      return kind.slice('request_'.length) + (data['usage'] ? `, ${text('usage', 'total_tokens')} tokens` : '');
    case 'request_failed':
      return `failed: ${text('error', 'type')}`;
    default:
      return undefined;
  }
}

/** The text or number at a path, on one line, because models invent names of tools; `?` if there is none. */
function at(data: unknown, path: readonly string[]): string {
  const value = path.reduce<unknown>((from, key) => (from as Record<string, unknown> | undefined)?.[key], data);
  return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '?';
}
