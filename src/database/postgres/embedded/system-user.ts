import { readFile, stat } from 'node:fs/promises';

/** A uid and gid of the operating system, both unsigned. */
export interface SystemUser {
  uid: number;
  gid: number;
}

export const isRoot = (): boolean => process.geteuid?.() === 0;

/** The entry of `name` in the text of /etc/passwd. macOS writes -2 where the kernel says 4294967294. */
export function parsePasswd(passwd: string, name: string): SystemUser | undefined {
  const entry = passwd.split('\n').find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid] = entry?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } : undefined;
}

const nobody = async (): Promise<SystemUser> => {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return parsePasswd(passwd, 'nobody') ?? { uid: 65534, gid: 65534 };
};

/**
 * The user to run PostgreSQL as; undefined for the current one. PostgreSQL refuses to run as root, so root uses the
 * data's owner or `nobody`.
 */
export async function postgresUser(dataDir: string): Promise<SystemUser | undefined> {
  if (!isRoot()) return undefined;
  const owner = await stat(dataDir).catch(() => undefined);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : nobody();
}

/** The spawn options for a user. Node expects signed numbers here, but unsigned ones in chown. */
export const spawnAs = (user: SystemUser | undefined): { uid?: number; gid?: number } =>
  user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
