import { constants } from 'node:os';

/** Ends a command with an exit code and no further message. */
export class Exit extends Error {
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
    this.name = 'Exit';
  }
}

/**
 * Resolves with the first SIGINT, SIGTERM or SIGHUP; a second one ends the process immediately. After SIGHUP the
 * terminal is gone: output to it is lost, and writing it must not keep the process from finishing its work.
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
