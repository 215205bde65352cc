import type { Connection } from './connection.ts';
import type { Alarm, AlarmCount, ListAlarmCountsQuery, NewAlarm } from './operations.ts';
import type { CallOptions } from './types.ts';

/** The alarm of which tenant; default: that of the key. */
interface OfTenant {
  tenant?: string;
}

/** Filters of runs that tell webhooks when too many runs match. */
export interface ClientAlarms {
  /** By tenant and name; a key of a tenant sees those of the tenant. */
  list(call?: CallOptions): Promise<Alarm[]>;
  /** @throws LanefoldClientError `alarm_not_found` */
  get(name: string, query?: OfTenant, call?: CallOptions): Promise<Alarm>;
  /**
   * Sets or changes an alarm. A change keeps its counts and clears it.
   *
   * @throws LanefoldClientError `invalid_input`, `invalid_request`
   *
   * @example
   * await client.alarms.set('many-failures', { filter: { status: 'failed' }, moreThan: 10, withinMs: 600_000 });
   */
  set(name: string, alarm: NewAlarm, query?: OfTenant, call?: CallOptions): Promise<Alarm>;
  /** Removes an alarm and its counts. @throws LanefoldClientError `alarm_not_found` */
  remove(name: string, query?: OfTenant, call?: CallOptions): Promise<void>;
  /** Clears an alarm, which workers then leave out until it is resumed. @throws LanefoldClientError `alarm_not_found` */
  pause(name: string, query?: OfTenant, call?: CallOptions): Promise<Alarm>;
  /** @throws LanefoldClientError `alarm_not_found` */
  resume(name: string, query?: OfTenant, call?: CallOptions): Promise<Alarm>;
  /** What an alarm counted in each five minutes, the oldest first; kept for a week. @throws LanefoldClientError `alarm_not_found` */
  counts(name: string, query?: ListAlarmCountsQuery, call?: CallOptions): Promise<AlarmCount[]>;
}

export function alarmsOf(connection: Connection): ClientAlarms {
  const of =
    <ID extends 'getAlarm' | 'pauseAlarm' | 'resumeAlarm' | 'removeAlarm'>(id: ID) =>
    (name: string, query: OfTenant = {}, { signal }: CallOptions = {}) =>
      connection.call(id, { params: { name }, query: query as never, signal });
  return {
    list: async ({ signal } = {}) => (await connection.call('listAlarms', { signal })).data,
    get: of('getAlarm'),
    set: (name, alarm, query = {}, { signal } = {}) =>
      connection.call('setAlarm', { params: { name }, query, body: alarm, signal }),
    remove: of('removeAlarm'),
    pause: of('pauseAlarm'),
    resume: of('resumeAlarm'),
    counts: async (name, query = {}, { signal } = {}) =>
      (await connection.call('listAlarmCounts', { params: { name }, query, signal })).data,
  };
}
