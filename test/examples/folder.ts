import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An empty folder, for what runs without DATABASE_URL. */
export function emptyFolder(): { path: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-example-'));
  // PostgreSQL runs as another user where the tests run as root
  chmodSync(folder, 0o755);
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
