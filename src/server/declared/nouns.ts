import type { Noun, Operation } from '../../base/operations/operation.ts';
import { approvals, runs } from '../../runs/operations/runs/declaration.ts';
import { agents } from '../../runs/operations/agents/declaration.ts';
import { library, tenants, workers } from '../../runs/operations/fleet/declaration.ts';
import { alarms } from '../../features/alarms/declaration.ts';
import { feedback } from '../../features/feedback/declaration.ts';
import { circuits } from '../../features/circuits/declaration.ts';
import { cases } from '../../features/evals/declaration.ts';
import { evals } from '../../features/evals/operations/declaration.ts';
import { events, waits } from '../../runs/operations/waits/declaration.ts';
import { monitors } from '../../features/monitors/declaration.ts';
import { contexts } from '../../runs/operations/contexts/declaration.ts';
import { audit, keys } from '../../runs/operations/access/declaration.ts';
import { limits } from '../../runs/operations/limits/declaration.ts';
import { schedules } from '../../features/schedules/declaration.ts';
import { threads } from '../../runs/operations/threads/declaration.ts';
import { webhooks } from '../../features/webhooks/declaration.ts';

/** Everything that is declared. */
export const nouns: readonly Noun[] = [
  agents,
  alarms,
  approvals,
  audit,
  cases,
  circuits,
  contexts,
  evals,
  events,
  feedback,
  keys,
  library,
  limits,
  monitors,
  runs,
  schedules,
  tenants,
  threads,
  waits,
  webhooks,
  workers,
];

const byId = new Map(
  nouns
    .flatMap(({ operations, requests }) => [...Object.values(operations), ...Object.values(requests)])
    .map((operation) => [operation.id, operation]),
);

/** The declaration of an operation, by its `operationId`. */
export const declaredOperation = (id: string): Operation | undefined => byId.get(id);
