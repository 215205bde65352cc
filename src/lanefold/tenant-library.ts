import type { Logger } from '../base/log/logger.ts';
import { withAudit } from '../database/store/access/audited-act.ts';
import type { Database } from '../database/postgres/pool.ts';
import { operationsOf, type FeatureHost } from '../features/feature.ts';
import { noteInternals } from '../features/library/internals.ts';
import type { TenantLibrary } from '../features/library/library.ts';
import { auditOf, keysOf } from '../runs/operations/access/keys.ts';
import { contextsOf } from '../runs/operations/contexts/contexts.ts';
import { evidenceOf } from '../runs/operations/evidence/evidence.ts';
import { limitsOf } from '../runs/operations/limits/limits.ts';
import { approvalsOf } from '../runs/operations/runs/approvals.ts';
import { runsOf } from '../runs/operations/runs/runs-of.ts';
import type { RunWaiter } from '../runs/operations/runs/waiter.ts';
import type { Keeper } from '../runs/operations/threads/erase.ts';
import { threadsOf } from '../runs/operations/threads/threads.ts';
import { eventsOf } from '../runs/operations/waits/events.ts';
import { waitsOf } from '../runs/operations/waits/waits.ts';
import { findUnattendedIn } from '../runs/fleet/unattended.ts';
import type { RunQueue } from '../runs/queue/queue.ts';
import type { LanefoldFeatures } from './features.ts';

/** What the libraries of a process share. */
export interface LibraryHost extends FeatureHost {
  features: LanefoldFeatures;
  keepers: readonly Keeper[];
  queue: RunQueue;
  log: Logger;
  secrets: readonly string[];
  refreshLimits(): Promise<void>;
}

/** Builds the library for the rows that `db` shows. */
export function tenantLibrary(
  host: LibraryHost,
  db: Database,
  streams: TenantLibrary['streams'],
  waiter: RunWaiter,
): TenantLibrary {
  const { all, queue, log, secrets, keepers, scopeTo } = host;
  const accepting = host.acceptingOn(db);
  const runs = runsOf({
    ...accepting,
    waiter,
    streams,
    log,
    tokenSecrets: secrets,
    findUnattended: findUnattendedIn(db, all),
  });
  const contexts = contextsOf(accepting);
  const threads = threadsOf({ accepting, keepers, streams });
  noteInternals(threads, {
    db,
    auditing: (acts) => tenantLibrary(host, withAudit(db, acts), streams, waiter),
  });
  const parts = {
    runs,
    contexts,
    keys: keysOf(db, secrets),
    limits: limitsOf(db, () => host.refreshLimits()),
    events: eventsOf({ db, all, queue, secrets, scopeTo }),
    waits: waitsOf(db, queue),
    audit: auditOf(db),
    approvals: approvalsOf(db),
    ...operationsOf(host.features, host, db, runs),
  };
  return { ...parts, threads, streams, evidence: evidenceOf(db), tenant: db.tenant };
}
