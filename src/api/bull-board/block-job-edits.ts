import type { BeforeHook } from '@bull-board/api/typings/app';

/** What would bring jobs into the queue that belong to no run, or hold up runs by a slip of the mouse. */
const refused = /\/(add|update-data|obliterate|concurrency|rate-limit|delay|priority)$|\/job-schedulers\//;

/** Allows to look, retry, remove, promote, pause and resume. */
export const blockJobEdits: BeforeHook = ({ method, route }) =>
  method !== 'get' && refused.test(route)
    ? { allow: false, status: 403, message: 'Jobs come from runs: use the API.' }
    : { allow: true };
