/** Decimal places of a dollar in the database, which counts billionths. */
const places = 9;

/** US dollars in billionths, exactly; undefined if the number has more than 9 decimal places. */
export function billionthsOf(dollars: number): bigint | undefined {
  // the shortest text of a number is what its caller wrote, perhaps as 1e-7
  const [digits = '', exponent = '0'] = String(dollars).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = places - fraction.length + Number(exponent);
  return shift < 0 ? undefined : BigInt(whole + fraction) * 10n ** BigInt(shift);
}

/** Billionths of a US dollar, as whole text, in dollars. */
export function dollarsOf(billionths: string): number {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(billionths) ?? [];
  const padded = digits.padStart(places + 1, '0');
  return Number(`${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`);
}
