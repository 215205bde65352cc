import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';

export const peersFolder = path.resolve('bench/peers');

/**
 * Installs the peers if they are not up to date. They have a separate lock file, so that they are installed only for
 * this comparison. No scripts run: one of them would report the installation to a vendor, and none is needed.
 */
export function installPeers(): void {
  const installed = path.join(peersFolder, 'node_modules/.package-lock.json');
  const lock = path.join(peersFolder, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  try {
    execFileSync('npm', ['ci', '--prefix', peersFolder, '--ignore-scripts', '--no-audit', '--no-fund'], {
      stdio: 'inherit',
    });
  } catch {
    console.log('npm could not install the peers.');
  }
}
