import { startServer } from './start-server.ts';
import { stopGrace } from '../base/environment.ts';
import { checkWorkerRole } from '../runs/operations/access/role-check.ts';
import type { DirectWorker } from '../runs/operations/runs/direct-start.ts';
import type { EnqueueOptions } from '../runs/operations/runs/enqueue.ts';
import { LanefoldError } from '../base/errors.ts';
import type { Database } from '../database/postgres/pool.ts';
import type { RunRef } from '../database/store/run/run.ts';
import { reportErrors } from '../base/log/report-errors.ts';
import { LimitGate } from '../runs/limiter/gate.ts';
import { assemble } from './assemble.ts';
import { Closers } from './closers.ts';
import { connect, type StartProgress } from './connect.ts';
import type { Lanefold } from './lanefold.ts';
import type { LanefoldOptions } from './options.ts';
import { readSettings } from './settings.ts';

/** Connects to the database and the queue. See `createLanefold`. */
export async function openLanefold(options: LanefoldOptions = {}, progress: StartProgress = {}): Promise<Lanefold> {
  let database: Database | undefined;
  const settings = await readSettings(options, () => database!);
  const closers = new Closers();
  try {
    const connections = await connect(settings, closers, progress);
    const { db, deliveryNotices, directUrl, openPool, queue, rights } = connections;
    database = db;
    const directWorkers = new Set<DirectWorker>();
    const gate = new LimitGate(db, queue, reportErrors(settings.log, 'limits'));
    closers.add(() => gate.close());
    const own = { directWorkers, gate };
    const { library, waiter, live, runsFor, startChildFor, defineSchedules, evalRequests } = assemble(
      settings,
      connections,
      closers,
      own,
    );
    const {
      agents,
      counting,
      log,
      models,
      privateQueue,
      privateWebhooks,
      promptCaching,
      redactor,
      scorers,
      telemetry,
    } = settings;
    const worker = {
      ...{ agents, counting, log, models, privateQueue, privateWebhooks, promptCaching, redactor, scorers, telemetry },
      evalRequests,
      ...{ db, connect: openPool, deliveryNotices, directUrl, directWorkers, gate, live },
      onHold: waiter.hold.bind(waiter),
      scheduleRequests: {
        enqueue: (tenant: string, request: EnqueueOptions) => runsFor(tenant).enqueue(request),
        interrupt: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'schedule_interrupted'),
      },
      children: {
        start: startChildFor,
        cancel: (tenant: string, run: RunRef) => runsFor(tenant).cancel(run, 'parent_ended'),
      },
      isAwaited: waiter.awaits.bind(waiter),
      onRelease: waiter.release.bind(waiter),
    };
    const lanefold: Lanefold = {
      ...library,
      startWorker: async (workerOptions = {}) => {
        checkWorkerRole(rights);
        return closers.start(
          async () => {
            // Imported on demand, so that a process without a worker does not load one.
            const { startFullWorker } = await import('./start-worker.ts');
            if (settings.schedules) await defineSchedules(settings.schedules);
            return startFullWorker(worker, queue, { ...stopGrace(), ...workerOptions });
          },
          (started) => started.stop(),
        );
      },
      startServer: (serverOptions = {}) =>
        closers.start(
          () => startServer(lanefold, serverOptions),
          (server) => server.close(),
        ),
      recover: async () => {
        checkWorkerRole(rights);
        if (settings.tenant !== undefined)
          throw new LanefoldError(
            'invalid_input',
            'recover is for the runs of all tenants, and this library is for one.',
            {
              hint: 'Nothing was changed. Leave tenant out.',
            },
          );
        return (await import('./recovery/recover.ts')).recover(db, queue);
      },
      close: () => closers.close(),
    };
    return lanefold;
  } catch (error) {
    await closers.close();
    throw error;
  }
}
