import { LanefoldError } from '../../errors.ts';
import type { SessionRights } from '../../store/role/session-rights.ts';

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
  ...(rights.bypasses ? ['it is a superuser or has BYPASSRLS: no policy keeps it to a tenant'] : []),
  ...(rights.isOwner ? ['it may act as the owner of the schema, and so take away triggers and policies'] : []),
  ...(!rights.isOwner && rights.mayWrite ? ['it may write tables past the functions'] : []),
  ...(rights.ownerBypasses
    ? [`no policy binds the owner of the schema, ${rights.owner}, as whom views and functions work`]
    : []),
  ...rights.unprotected.map((table) => `no policy binds the owner on the table ${table}`),
];

/** @throws LanefoldError `role_unfit` */
export function checkRole(rights: SessionRights, check: RoleCheck): void {
  const found = check === 'off' ? [] : excess(rights);
  if (found.length === 0) return;
  const error = new LanefoldError('role_unfit', `The role ${rights.role} may do too much: ${found.join('; ')}.`, {
    hint:
      'Connect with a role of `lanefold roles`, or set LANEFOLD_ROLE_CHECK=warn. To repair policies and owner, run ' +
      '`lanefold migrate` as a superuser.',
    details: { role: rights.role, found },
  });
  if (check === 'refuse') throw error;
  process.emitWarning(`${error.message} ${error.hint}`, { code: 'LANEFOLD_ROLE' });
}

/** @throws LanefoldError `role_unfit` for a role that would find no work */
export function checkWorkerRole(rights: SessionRights): void {
  if (rights.allTenants) return;
  throw new LanefoldError('role_unfit', `The role ${rights.role} is no worker's: it may not see all tenants.`, {
    hint: `Grant it that, as the owner: lanefold.grant_role('${rights.role}', 'worker').`,
  });
}
