import type { TenantLibrary } from '../../library/library.ts';
import type { RunSnapshot } from '../../library/runs/run-snapshot.ts';
import { callName } from '../../checks/call.ts';

const eventsAtOnce = 500;

/** What was decided about a call; undefined if nothing was, or if the trace no longer says so. */
export async function decisionOf(
  lanefold: TenantLibrary,
  run: RunSnapshot,
  call: { round: number; index: number },
): Promise<'approved' | 'denied' | undefined> {
  const place = callName(call);
  for (let after = -1; ;) {
    const page = await lanefold.runs.events(run, { after, limit: eventsAtOnce });
    const decided = page.find(({ kind, data }) => kind === 'approval_decided' && callName(data) === place);
    if (decided) return decided.data['decision'] as 'approved' | 'denied';
    if (page.length < eventsAtOnce) break;
    after = page.at(-1)!.eventSeq;
  }
  // a trace may be dropped before its run
  return run.toolCalls.some((made) => callName(made) === place && made.status === 'denied') ? 'denied' : undefined;
}
