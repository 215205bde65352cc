/** Resolves with the first SIGINT or SIGTERM. */
export const stopSignal = (): Promise<string> =>
  new Promise((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
