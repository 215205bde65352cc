import { withoutPassword } from '../base/checks/connection-url.ts';
import { checkRole } from '../runs/operations/access/role-check.ts';
import { endAbandonedRuns } from '../runs/operations/runs/end-abandoned-runs.ts';
import { reportErrors } from '../base/log/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgresOptions } from '../database/postgres/embedded/index.ts';
import { fromPostgres } from '../database/postgres/errors.ts';
import { FollowerHealth, preferFollower } from '../database/postgres/listen.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../database/postgres/pool.ts';
import { openQueue } from '../runs/queue/open-queue.ts';
import { DatabaseClock } from '../database/store/database-clock.ts';
import { readSessionRights } from '../database/store/role/session-rights.ts';
import { holdFleet } from '../database/store/run/hold-fleet.ts';
import { assertSchema, isDistributed } from '../database/store/schema/version.ts';
import { DeliveryNotices } from '../database/store/call-function.ts';
import type { Closers } from './closers.ts';
import type { LanefoldSettings } from './settings.ts';

export type Connections = Awaited<ReturnType<typeof connect>>;

/** Told while a process starts, before it takes longer than expected. */
export interface StartProgress extends Pick<EmbeddedPostgresOptions, 'onStart'> {
  /** Called with what the process waits for from now on. */
  onStep?: (text: string) => void;
}

/** Starts the embedded PostgreSQL if no other is given, then opens the database and the queue. */
export async function connect(
  settings: LanefoldSettings,
  closers: Closers,
  { onStart, onStep = () => {} }: StartProgress,
) {
  const { embeddedDir: dir, log, prefix, privateQueue, redisUrl, roleCheck, shards } = settings;
  const embedded = settings.databaseUrl === undefined ? await startEmbeddedPostgres({ dir, onStart }) : undefined;
  if (embedded) closers.add(() => embedded.stop());
  const databaseUrl = settings.databaseUrl ?? embedded!.url;
  const directUrl = (!embedded && settings.directUrl) || databaseUrl;
  if (settings.migrate) {
    const { migrate } = await import('../database/store/schema/migrate.ts');
    onStep('migrating the database, if its schema is older');
    await migrate(directUrl, { queueTables: !redisUrl, onBlocked: onStep });
  }
  const openPool = (more: Omit<DatabaseOptions, 'url' | 'prepare'>) =>
    openDatabase({ url: databaseUrl, prepare: settings.prepare, ...more });
  // the embedded database has no follower, whatever the environment says
  const follower = embedded || !settings.readUrl ? undefined : openFollower(settings.readUrl, settings);
  closers.add(async () => follower?.db.close());
  const db = openPool({ max: settings.poolSize, ...follower?.options });
  closers.add(() => db.close());
  onStep(`connecting to PostgreSQL${embedded ? '' : ` at ${withoutPassword(databaseUrl)}`}`);
  await assertSchema(db.pool).catch((error: unknown) => {
    throw fromPostgres(error);
  });
  db.settings.maxContextBytes = settings.contextLimit;
  db.settings.largeContentBytes = settings.contentLimit;
  const deliveryNotices = new DeliveryNotices(db);
  db.settings.deliveriesDue = () => deliveryNotices.due();
  db.settings.clock = await DatabaseClock.open(db);
  db.settings.distributed = await isDistributed(db.pool);
  if (db.settings.distributed) await watchNodes(db, databaseUrl, settings, closers);
  const rights = await readSessionRights(db.pool);
  // the embedded server has only one role, a superuser
  checkRole(rights, embedded && roleCheck === 'refuse' ? 'warn' : roleCheck);
  const queueOptions = { redisUrl, databaseUrl: directUrl, prefix, shards, clock: db.settings.clock };
  const queue = openQueue({ ...queueOptions, onError: reportErrors(log, 'queue') });
  closers.add(() => queue.close());
  if (redisUrl) onStep('connecting to Redis');
  await queue.ready();
  if (privateQueue) {
    closers.add(() => queue.obliterate().catch(() => {}));
    const fleet = await holdFleet(directUrl, queue.prefix);
    closers.add(() => fleet.release());
  }
  await endAbandonedRuns(db, queue, directUrl, queueOptions);
  return { db, databaseUrl, directUrl, openPool, rights, queue, queueOptions, deliveryNotices };
}

/** Loaded on demand: only a distributed database has nodes. */
async function watchNodes(db: Database, url: string, { log }: LanefoldSettings, closers: Closers): Promise<void> {
  const { guardNodes } = await import('../database/store/nodes/guard-nodes.ts');
  const nodes = await guardNodes(db, url, ({ name, isDown }) => {
    const facts = { component: 'database', node: name };
    if (isDown) log.error(facts, 'node does not answer: its threads wait, and sweeps leave it out');
    else log.info(facts, 'node answers again');
  });
  db.settings.nodes = nodes;
  closers.add(() => nodes.close());
}

/** How long a read waits for a connection to the follower before it goes to the primary. */
const followerConnectMs = 2_000;

/** How long a read may take on the follower, which then cancels it: the primary may be less busy. */
const followerAnswerMs = 10_000;

/**
 * How long a read waits for a follower that says nothing before it goes to the primary: a frozen host keeps its connections
 * open. Longer than `followerAnswerMs`, so that a follower that is slow does not count as gone.
 */
const followerSilentMs = 12_000;

const fromPrimary = 'Lists and statistics are read from the primary until the follower answers.';
const withoutFollower = { database_unreachable: fromPrimary, database_busy: fromPrimary };

function openFollower(url: string, { log, poolSize: max, prepare }: LanefoldSettings) {
  const health = new FollowerHealth(reportErrors(log, 'follower', withoutFollower));
  const limits = { connectMs: followerConnectMs, timeoutMs: followerAnswerMs, silentMs: followerSilentMs };
  const db = openDatabase({ url, prepare, max, ...limits });
  const readerOf: DatabaseOptions['readerOf'] = (primary, scope) =>
    preferFollower(primary, (scope ? db.forTenant(scope) : db).reader, health);
  return { db, options: { readerOf, settings: db.settings } };
}
