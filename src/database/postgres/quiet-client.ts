import pg from 'pg';

/**
 * A client whose connection may break without ending the process. `pg` reports a broken connection twice: to the
 * running statement, and as an `error` event, which is fatal without a listener. A pool does not listen while a client
 * is checked out.
 */
export class QuietClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
