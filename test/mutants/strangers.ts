import type { Mutant } from './mutants.ts';

const before = 'test/api/before-the-key.test.ts';

/** Mistakes that let strangers in. */
export const strangers: Mutant[] = [
  {
    name: 'the key of a tenant’s names is given to any session',
    sql: {
      name_key: [
        [
          "if coalesce(v_scope, case when lanefold._chooses_tenant() then '*' end, '') not in ('*', p_tenant_id) then",
          'if false then',
        ],
      ],
    },
    caughtBy: {
      file: 'test/library/names.test.ts',
      test: 'the names of two tenants come from a secret that no role reads, through a key of their own tenant',
    },
  },
  {
    name: 'a signed path is read before its token',
    source: { 'src/server/routes/signed-events.ts': [["    await events.checkToken(c.req.param('token'));\n", '']] },
    caughtBy: { file: before, test: 'before the credential of a request no route reads a byte of its body' },
  },
  {
    name: 'a signed path is logged as it is',
    source: { 'src/server/log-errors.ts': [["maskSecrets(path.replace(signed, '$1[redacted]'))", 'path']] },
    caughtBy: {
      file: before,
      test: 'before the credential of a request an error behind a path with a credential is logged without it',
    },
  },
];
