import { stopGrace } from '../base/environment.ts';
import { LanefoldError } from '../base/errors.ts';
import { reportErrors } from '../base/log/logger.ts';
import type { Database } from '../database/postgres/pool.ts';
import type { WorkerOptions } from '../worker/process/options.ts';
import { LimitGate } from '../runs/limiter/gate.ts';
import { checkWorkerRole } from '../runs/operations/access/role-check.ts';
import type { DirectWorker } from '../runs/operations/runs/enqueue-request.ts';
import { assemble } from './assemble.ts';
import { Closers } from './closers.ts';
import { connect, type StartProgress } from './connect.ts';
import type { Lanefold } from './lanefold.ts';
import type { LanefoldOptions } from './options.ts';
import { readSettings } from './settings.ts';
import { startServer, startFullWorker } from './start-worker.ts';

/** Connects to the database and the queue. See `createLanefold`. */
export async function openLanefold(options: LanefoldOptions = {}, progress: StartProgress = {}): Promise<Lanefold> {
  let database: Database | undefined;
  const settings = await readSettings(options, () => database!);
  const closers = new Closers();
  try {
    const connections = await connect(settings, closers, progress);
    const { db, queue, rights } = connections;
    database = db;
    const directWorkers = new Set<DirectWorker>();
    const gate = new LimitGate(db, queue, reportErrors(settings.log, 'limits'));
    closers.add(() => gate.close());
    const assembled = assemble(settings, connections, closers, { directWorkers, gate });
    const workerHost = () => ({ ...assembled, settings, connections, gate, directWorkers });
    const lanefold: Lanefold = {
      ...assembled.library,
      startWorker: async (workerOptions = {}) => {
        checkWorkerRole(rights);
        return closers.start(
          () => startFullWorker(workerHost(), { ...stopGrace(), ...workerOptions }),
          (started) => started.stop(),
        );
      },
      work: async (workOptions = {}) => {
        checkWorkerRole(rights);
        const { workUntilIdle } = await import('../worker/process/work.ts');
        const start = (options: WorkerOptions) => startFullWorker(workerHost(), options);
        return closers.during((closing) => workUntilIdle(start, { ...stopGrace(), ...workOptions }, closing));
      },
      startServer: (serverOptions = {}) =>
        closers.start(
          () => startServer(lanefold, serverOptions),
          (server) => server.close(),
        ),
      recover: async () => {
        checkWorkerRole(rights);
        if (settings.tenant !== undefined) throw recoversAll();
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

const recoversAll = () =>
  new LanefoldError('invalid_input', 'recover is for the runs of all tenants, and this library is for one.', {
    hint: 'Nothing was changed. Leave tenant out.',
  });
