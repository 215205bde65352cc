// Generated from declaration.ts beside it: run `npm run types:api`.

import type { BrowserAccess } from '../../../base/access/browser-token.ts';
import type { keyAgents } from '../../../database/store/access/types.ts';
import type { KeyLimits } from '../../../base/access/principal.ts';
import type { Allowed } from '../../../base/access/principal.ts';
import type { ApiKey } from '../../../database/store/access/types.ts';

export interface BrowserToken {
  /** A Bearer token. */
  token: string;
  /** When it expires. */
  expiresAt: Date;
}

/** A new key with its secret. Only this answer has the secret: the database stores its hash. */
export interface MintedKey {
  id: string;
  /** Shown only once: the server stores only its hash. */
  key: string;
}

export interface NewBrowserToken {
  threadId: string;
  /** Only this run of the thread. */
  runId?: string;
  /**
   * `read`: see the thread or run. `chat`: also ask, steer and cancel. `approve`: also approve and deny tool calls.
   */
  access: BrowserAccess;
  /** Only runs of these agents, in threads where no other agent has run. */
  agents?: keyAgents;
  /** Default: 15 minutes; at most one day. */
  expiresInMs?: number;
  /**
   * The token expires at this time at the latest, because the key that requests the token does. In ms, like
   * `Date.now()`.
   */
  expiresAtMs?: number;
  tenant?: string;
  /** The limits of the key that requests the token. */
  limits?: KeyLimits;
  /** The id of the key that requests the token; default `operator`. */
  by?: string;
}

export interface NewKey {
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
  /** Lifetime of the key; default: unlimited. */
  expiresInMs?: number;
}

export interface DeclaredKeys {
  /**
   * Creates a key. A library of one tenant creates keys for that tenant.
   *
   * @throws LanefoldError `invalid_input`, `invalid_id`
   */
  create(options: {
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
    /** Lifetime of the key; default: unlimited. */
    expiresInMs?: number;
    /** Who changes it, for the audit; default `operator`. */
    by?: string;
  }): Promise<MintedKey>;
  /** All keys, newest first, without secrets. */
  list(): Promise<ApiKey[]>;
  /**
   * Adds a secret to a key; the old secrets keep working for `overlapMs`, by default an hour.
   *
   * @throws LanefoldError `key_not_found`
   */
  rotate(
    keyId: string,
    options?: {
      /** How long the old secrets keep working; default: one hour. */
      overlapMs?: number;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<MintedKey>;
  /**
   * Revokes a key; servers notice within ten seconds.
   *
   * @throws LanefoldError `key_not_found`
   */
  revoke(
    keyId: string,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
}
