/** Unsets our variables if they are empty, because compose files and scripts turn an unset variable into an empty one. */
export function unsetEmpty(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env))
    if (value === '' && /^(LANEFOLD_\w+|DATABASE_URL|REDIS_URL)$/.test(name)) delete env[name];
}
