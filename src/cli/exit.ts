/** Ends a command with an exit code where there is nothing more to say. */
export class Exit extends Error {
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`);
    this.name = 'Exit';
  }
}
