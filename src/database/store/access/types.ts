// Generated from declaration.ts beside it: run `npm run types:api`.

import type { Allowed } from '../../../base/access/principal.ts';
import type { KeyLimits } from '../../../base/access/principal.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

/** An API key without its secret. */
export interface ApiKey {
  id: string;
  /** What the key is for. */
  name: string;
  scopes: Allowed['scopes'];
  /** Only threads of this tenant; default: the tenant of the library. */
  tenant?: string;
  /** Only runs of these agents, in threads where no other agent has run. */
  agents?: keyAgents;
  /** Only threads whose ids begin with this. */
  threadPrefix?: string;
  limits?: KeyLimits;
  createdBy: string;
  /** When its newest secret was created. */
  createdAt: Date;
  /** When it expires; null: never. */
  expiresAt: Date | null;
  /** When it was revoked. */
  revokedAt: Date | null;
}

export interface AuditEntry {
  /** Ascending, with gaps where a transaction was rolled back. */
  no: number;
  /** When the action was requested. */
  at: Date;
  tenantId: string | null;
  /** `operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`. */
  actor: string;
  action: string;
  threadId: string | null;
  runId: string | null;
  detail: JsonObject;
}

export interface AuditQuery {
  /** Return entries after this number: the `nextAfter` of the previous page. */
  after?: number;
  threadId?: string;
  tenantId?: string;
  /** Maximum number of entries; default 100. */
  limit?: number;
}

/** Only runs of these agents, in threads where no other agent has run. */
export type keyAgents = readonly string[];
