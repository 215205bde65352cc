/** A limit refuses to let a run go on now. Nothing was reserved; the run waits without a worker. */
export class LimitReached extends Error {
  constructor(
    /** The bucket, as `placeOf` names it. */
    readonly place: string,
    /** When it may go on, in ms from now; undefined if only the end of another run can tell. */
    readonly delayMs: number | undefined,
  ) {
    super(`The run waits for the limit ${place.split(' ')[1]}.`);
    this.name = 'LimitReached';
  }
}
