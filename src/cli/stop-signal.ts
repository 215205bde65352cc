import { constants } from 'node:os';

/**
 * Resolves with the first SIGINT, SIGTERM or SIGHUP; a second one ends the process immediately. After SIGHUP the terminal
 * is gone: what is written to it is lost, and must not stop the process from ending its work.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(128 + constants.signals[signal]);
      stopping = true;
      if (signal === 'SIGHUP')
        for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {});
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}
