/** Ends a command with an exit code and no further message. */
export class Exit extends Error {
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
    this.name = 'Exit';
  }
}
