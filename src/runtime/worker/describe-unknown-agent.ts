import type { UnknownAgent } from '../../store/run/find-unknown-agents.ts';

/** One line for people: what waits, and what to do. */
export const describeUnknownAgent = ({ agent, strategy, runs, since }: UnknownAgent): string =>
  `no worker knows ${strategy === null ? '' : `the strategy ${JSON.stringify(strategy)} of `}the agent ${JSON.stringify(agent)}: ${runs === 1 ? 'one run waits' : `${runs} runs wait`} for it since ` +
  `${since.toISOString()}; start a worker that has it, or cancel ${runs === 1 ? 'the run' : 'them'}`;
