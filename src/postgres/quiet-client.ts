import pg from 'pg';

/**
 * A client whose connection may break without ending the process: `pg` tells of it twice, to the statement under way and
 * by an `error` event, which Node makes fatal where nobody listens. A pool does not listen while a client is lent out.
 */
export class QuietClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
