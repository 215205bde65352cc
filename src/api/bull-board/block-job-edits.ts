import type { BeforeHook } from '@bull-board/api/typings/app';

/**
 * Actions that would add jobs without a run, or delay runs with one careless click. A retried job finds its run ended and
 * completes: it would turn the job of a failed run green, and replace an answer by nothing.
 */
const blocked =
  /\/(add|update-data|obliterate|concurrency|rate-limit|delay|priority|retry)$|\/retry\/|\/job-schedulers\//;

/** Allows viewing, remove, promote, pause and resume. */
export const blockJobEdits: BeforeHook = ({ method, route }) =>
  method !== 'get' && blocked.test(route)
    ? { allow: false, status: 403, message: 'A job belongs to a run: start a new run from the page or the API.' }
    : { allow: true };
