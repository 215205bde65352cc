/**
 * A client of the HTTP API that depends on nothing but the web's own globals.
 *
 * @module client
 */
export { createClient, type Client } from './client.ts';
export type { ConnectionOptions } from './connection.ts';
export type { Credentials } from './credentials.ts';
export { isClientError, LanefoldClientError, type ClientErrorCode } from './errors.ts';
export type { CallRef, ClientRuns, InputOptions } from './runs.ts';
export type { WaitOptions } from './wait-for.ts';
export type { AppendOptions, ClientThreads, NewEntry } from './threads.ts';
export type { CallView, ClientContexts, NewContext, OperationOptions, ProjectOptions } from './contexts.ts';
export type { StreamItem, StreamOptions } from './stream-item.ts';
export type {
  AgentName,
  CallOptions,
  ClientResult,
  EnqueueOptions,
  KnownAgent,
  KnownAgents,
  Page,
  ResultOr,
  RunHandle,
  RunOf,
} from './types.ts';
