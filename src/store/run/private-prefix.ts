/** Names a fleet of one process, whose runs nobody else takes. */
export const privatePrefix = 'lf-once-';
