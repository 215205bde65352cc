/** Whether a name is an IANA time zone. Offsets such as `+02:00` are not: PostgreSQL reads them with the opposite sign. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
