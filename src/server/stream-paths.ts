const written = /^\/v1\/(stream|threads\/[^/]+\/streams)\/[^/]+$/;

/** Whether a path is that of a stream which clients write: its body is data of any type, which is appended as it is. */
export const takesBytes = (path: string): boolean => written.test(path);

const traced = /^\/v1\/threads\/[^/]+\/(runs\/[^/]+\/)?stream$/;

/** Whether a path is read with the Durable Streams protocol. */
export const isDurable = (path: string): boolean => written.test(path) || traced.test(path);
