import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../context/message.ts';

/** A difference between two versions of an agent. */
export interface VersionChange {
  /** Where: names of fields and of tools, joined by dots, such as `settings.temperature` or `tools.refund.description`. */
  path: string;
  /** Absent: it was added. */
  from?: Json;
  /** Absent: it was removed. */
  to?: Json;
}

/** What differs between two definitions, in the order of their fields; tools are compared by name. */
export function diffVersions(from: JsonObject, to: JsonObject): VersionChange[] {
  const changes: VersionChange[] = [];
  compare('', byTool(from), byTool(to), changes);
  return changes;
}

function compare(path: string, from: Json | undefined, to: Json | undefined, changes: VersionChange[]): void {
  if (isDeepStrictEqual(from, to)) return;
  if (!isObject(from) || !isObject(to) || path.endsWith('schema')) {
    changes.push({ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
    return;
  }
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    compare(path === '' ? key : `${path}.${key}`, from[key], to[key], changes);
}

/** Tools by name, so that one that is added shows as one change. */
function byTool({ tools, ...definition }: JsonObject): JsonObject {
  if (!Array.isArray(tools)) return definition;
  return { ...definition, tools: Object.fromEntries(tools.map((tool) => [(tool as { name: string }).name, tool])) };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
