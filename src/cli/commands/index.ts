// One line per command; `lanefold --help` lists them by name.
export { addApi } from './api.ts';
export { addApprove, addDeny } from './approve.ts';
export { addChaos } from './chaos.ts';
export { addContext } from './context.ts';
export { addDemo } from './demo.ts';
export { addDev } from './dev.ts';
export { addKeys } from './keys.ts';
export { addErase } from './erase.ts';
export { addMigrate } from './migrate.ts';
export { addReplay } from './replay.ts';
export { addRoles } from './roles.ts';
export { addRun } from './run.ts';
export { addTail } from './tail.ts';
export { addTenants } from './tenants.ts';
export { addThread } from './thread.ts';
export { addWorker } from './worker.ts';
