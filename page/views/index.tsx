import type { ComponentChild } from 'preact';
import { Empty } from '../parts/basics.tsx';
import { onDemand } from '../parts/on-demand.tsx';
import type { Route } from '../state/route.ts';
import { ApprovalsView } from './approvals.tsx';
import type { EvalsProps } from './evals/evals.tsx';
import { RunView } from './run/run.tsx';
import { RunsView } from './runs.tsx';
import { ThreadView } from './thread/thread.tsx';
import { ThreadsView } from './threads/threads.tsx';

const AgentsView = onDemand(async () => (await import('./agents/agents.tsx')).AgentsView);
const AlarmsView = onDemand(async () => (await import('./alarms/alarms.tsx')).AlarmsView);
interface InThread {
  threadId: string;
}
const CallView = onDemand<InThread & { callId: string }>(async () => (await import('./call/call.tsx')).CallView);
const CompareView = onDemand<InThread>(async () => (await import('./thread/side-by-side.tsx')).CompareView);
const EvalsView = onDemand<EvalsProps>(async () => (await import('./evals/evals.tsx')).EvalsView);
const LimitsView = onDemand(async () => (await import('./limits/limits.tsx')).LimitsView);
const MonitorsView = onDemand(async () => (await import('./monitors/monitors.tsx')).MonitorsView);
const SchedulesView = onDemand(async () => (await import('./schedules/schedules.tsx')).SchedulesView);
const WebhooksView = onDemand(async () => (await import('./webhooks/webhooks.tsx')).WebhooksView);
const OperationsView = onDemand(async () => (await import('./operations/operations.tsx')).OperationsView);

/** The view of an address. A new id starts a new view, so that no state of one thread shows in another. */
export function view({ path }: Route): ComponentChild {
  const [area = 'threads', id, part, partId] = path;
  if (area === 'runs') return <RunsView />;
  if (area === 'approvals') return <ApprovalsView />;
  if (area === 'schedules') return <SchedulesView />;
  if (area === 'webhooks') return <WebhooksView />;
  if (area === 'agents') return <AgentsView />;
  if (area === 'evals') return <EvalsView key={`${id}/${part}/${partId}`} id={id} part={part} variant={partId} />;
  if (area === 'alarms') return <AlarmsView />;
  if (area === 'monitors') return <MonitorsView />;
  if (area === 'limits') return <LimitsView />;
  if (area === 'operations') return <OperationsView />;
  if (area !== 'threads') return <Empty>There is no such view.</Empty>;
  if (id === undefined) return <ThreadsView />;
  if (part === 'calls' && partId) return <CallView key={`${id}/${partId}`} threadId={id} callId={partId} />;
  if (part === 'runs' && partId) return <RunView key={`${id}/${partId}`} threadId={id} runId={partId} />;
  if (part === 'compare') return <CompareView key={`${id}/compare`} threadId={id} />;
  return <ThreadView key={id} threadId={id} />;
}
