import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nameServers, resolveHost, type Resolver } from '../../src/features/webhooks/worker/addresses.ts';
import { isPublic, readUrl } from '../../src/features/webhooks/definition/url.ts';
import { startNameServer, type NameServer } from './name-server.ts';

describe('an address', () => {
  test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'fe80::1%eth0',
    '::ffff:0:7f00:1',
    'localhost',
    '',
    '64:ff9b:1::808:808',
    '2001:0:808:808::1',
    '2002:808:808::1',
    '::8.8.8.8',
    '::808:808',
    // unassigned, and what was set aside within 2000::/3
    '1::1',
    '200::1',
    '400::1',
    '4000::1',
    '5f00::1',
    '6000::1',
    '8000::1',
    'c000::1',
    'e000::1',
    'fec0::1',
    '100::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:30::1',
    '3fff::1',
    '2620:4f:8000::1',
    '2606:4700::1111%eth0',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '192.0.0.1',
    '192.88.99.1',
    '[::1]',
    // of a cloud, in a range of the internet
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '::ffff:a83f:8110',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
  ])('%s is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test('of a private network is never public, however it is written', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, (a, b, c) => {
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
        expect(isPublic(`10.${a}.${b}.${c}`)).toBe(false);
        expect(isPublic(`::ffff:${hex(10, a)}:${hex(b, c)}`)).toBe(false);
      }),
    );
  });
});

test('an address of IPv6 is public only in the part that is assigned to hosts', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const address = groups.map((each) => each.toString(16)).join(':');
      if (isPublic(address)) expect(groups[0]! >> 13).toBe(1);
    }),
    { numRuns: 2_000 },
  );
});

describe('a URL', () => {
  test.each([
    ['', 'must be a URL'],
    [7, 'must be a URL'],
    ['http://example.com/', 'must begin with https:'],
    ['ftp://example.com/', 'must begin with https:'],
    ['file:///etc/passwd', 'must begin with https:'],
    ['https://user:secret@example.com/', 'must not have a user or password: verify the signature instead'],
    ['https://example.com/#x', 'must not have a fragment'],
    [`https://example.com/${'x'.repeat(2_000)}`, 'must have at most 2000 characters'],
  ])('%s is refused', (url, problem) => {
    expect(readUrl(url, false)).toEqual({ problem });
  });

  test('may have http only where private addresses are allowed', () => {
    expect(readUrl('http://localhost:8080/x', true)).toMatchObject({ url: { port: '8080' } });
    expect(readUrl('ftp://localhost/', true)).toEqual({ problem: 'must begin with https: or http:' });
  });
});

describe('a host', () => {
  const names: Resolver = async (host) => {
    if (host === 'gone.example') throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    if (host === 'mixed.example') return [{ address: '8.8.8.8', family: 4 }, ...own];
    return host === 'inside.example' ? own : [{ address: '8.8.8.8', family: 4 }];
  };
  const own = [{ address: '10.0.0.1', family: 4 }];
  const resolve = (url: string, anywhere = false) => resolveHost(new URL(url), anywhere, names);

  test('is refused if any of its addresses is not public', async () => {
    for (const host of ['inside.example', 'mixed.example'])
      expect(await resolve(`https://${host}/`)).toEqual({
        code: 'private_address',
        message: `The host ${host} has an address that is not public.`,
      });
    expect(await resolve('https://public.example/')).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await resolve('https://inside.example/', true)).toEqual(own);
  });

  test.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700:0::1111'])(
    'is refused if it is this machine, whose own address is %s',
    async (address) => {
      for (const host of ['public.example', '8.8.8.8', '[::ffff:808:808]', '[2606:4700::1111]']) {
        const found = await resolveHost(new URL(`https://${host}/`), false, names, () => ['127.0.0.1', address]);
        const isOwn = host.includes('2606') === address.includes('2606');
        expect([host, Array.isArray(found)]).toEqual([host, !isOwn]);
      }
      expect(Array.isArray(await resolveHost(new URL('https://8.8.8.8/'), true, names, () => [address]))).toBe(true);
    },
  );

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ])('written as %s is this machine', async (host) => {
    expect(await resolve(`https://${host}/`)).toMatchObject({ code: 'private_address' });
  });

  test('without an address is refused', async () => {
    expect(await resolve('https://gone.example/')).toEqual({
      code: 'unknown_host',
      message: 'The host gone.example has no address (ENOTFOUND).',
    });
  });
});

describe('name servers', () => {
  let server: NameServer;
  beforeAll(async () => {
    server = await startNameServer({
      'both.example': { A: '8.8.8.8', AAAA: '2606:4700:0:0:0:0:0:1111' },
      'four.example': { A: '8.8.4.4' },
      'mixed.example': { A: '8.8.8.8', AAAA: 'fd00:0:0:0:0:0:0:1' },
      'silent.example': undefined,
    });
  });
  afterAll(() => server?.close());
  const ask = (host: string, limitMs?: number) =>
    nameServers({ servers: [server.address], ...(limitMs ? { limitMs } : {}) })(host);

  test('are asked for addresses of both families', async () => {
    expect(await ask('both.example')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
    expect(await ask('four.example')).toEqual([{ address: '8.8.4.4', family: 4 }]);
    expect(await resolveHost(new URL('https://mixed.example/'), false, ask)).toMatchObject({ code: 'private_address' });
  });

  test('may know no such host, or not answer', async () => {
    await expect(ask('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(await resolveHost(new URL('https://silent.example/'), false, (host) => ask(host, 50))).toEqual({
      code: 'unknown_host',
      message: 'The host silent.example has no address (no name server answered within 50 ms).',
    });
    expect(server.asked).toContain('silent.example');
  });

  test('are not asked for this machine, which private webhooks may call', async () => {
    for (const host of ['localhost', 'receiver.localhost'])
      expect(await resolveHost({ hostname: host }, false)).toMatchObject({ code: 'private_address' });
    expect(await resolveHost({ hostname: 'localhost' }, true)).toContainEqual({ address: '127.0.0.1', family: 4 });
  });
});
