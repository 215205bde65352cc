/** Forgets our variables that are empty: that is what compose files and scripts make of an unset one. */
export function unsetEmpty(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env))
    if (value === '' && /^(LANEFOLD_\w+|DATABASE_URL|REDIS_URL)$/.test(name)) delete env[name];
}
