import { asked, check, converse, question } from './workload.js';

/** No system: the run as plain code, which nothing survives. What it takes beyond the pauses is the machine's timers. */
export const open = () => ({
  run: async () => check(await converse(asked(question))),
  close() {},
});
