import type { BeforeHook } from '@bull-board/api/typings/app';

/** Actions that would add jobs without a run, or delay runs with one careless click. */
const blocked = /\/(add|update-data|obliterate|concurrency|rate-limit|delay|priority)$|\/job-schedulers\//;

/** Allows viewing, retry, remove, promote, pause and resume. */
export const blockJobEdits: BeforeHook = ({ method, route }) =>
  method !== 'get' && blocked.test(route)
    ? { allow: false, status: 403, message: 'Jobs are created by runs: use the API.' }
    : { allow: true };
