import { LanefoldError } from '../../../base/errors.ts';
import type { SessionRights } from '../../../database/store/role/session-rights.ts';

export type RoleCheck = 'refuse' | 'warn' | 'off';

/** The option, else `LANEFOLD_ROLE_CHECK`, else by `NODE_ENV`. @throws LanefoldError `invalid_input` */
export function roleCheckOf(option: RoleCheck | undefined): RoleCheck {
  const given = option ?? (process.env['LANEFOLD_ROLE_CHECK'] || undefined);
  if (given === undefined) return process.env['NODE_ENV'] === 'production' ? 'refuse' : 'off';
  if (given === 'refuse' || given === 'warn' || given === 'off') return given;
  throw new LanefoldError(
    'invalid_input',
    `LANEFOLD_ROLE_CHECK must be refuse, warn or off; got ${JSON.stringify(given)}.`,
    {
      hint: 'Set it to one of them, or unset it.',
    },
  );
}

/** The rights of a role that no duty needs. */
const excess = (rights: SessionRights): string[] => [
  ...(rights.bypasses ? ['it is a superuser or has BYPASSRLS, so no policy restricts it to a tenant'] : []),
  ...(rights.isOwner ? ['it can act as the owner of the schema and drop triggers and policies'] : []),
  ...(!rights.isOwner && rights.mayWrite ? ['it can write to the tables without the functions'] : []),
  ...(rights.ownerBypasses
    ? [`the owner of the schema, ${rights.owner}, bypasses policies, and views and functions run with its rights`]
    : []),
  ...rights.unprotected.map((table) => `table ${table} lacks forced row-level security`),
];

/** @throws LanefoldError `role_unfit` */
export function checkRole(rights: SessionRights, check: RoleCheck): void {
  const found = check === 'off' ? [] : excess(rights);
  if (found.length === 0) return;
  const error = new LanefoldError('role_unfit', `The role ${rights.role} has too many rights: ${found.join('; ')}.`, {
    hint:
      'Connect with a role that `lanefold roles` describes, or set LANEFOLD_ROLE_CHECK=warn. To repair the owner and ' +
      'policies, run `lanefold migrate` as a superuser.',
    details: { role: rights.role, found },
  });
  if (check === 'refuse') throw error;
  process.emitWarning(`${error.message} ${error.hint}`, { code: 'LANEFOLD_ROLE' });
}

/** @throws LanefoldError `role_unfit` for a role that would find no work */
export function checkWorkerRole(rights: SessionRights): void {
  if (rights.allTenants) return;
  throw new LanefoldError('role_unfit', `The role ${rights.role} cannot run a worker: it may not see all tenants.`, {
    hint: `As the owner of the schema, call lanefold.grant_role('${rights.role}', 'worker').`,
  });
}
