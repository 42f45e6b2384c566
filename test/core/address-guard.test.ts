import { describe, expect, it } from 'vitest'
import { assertPublicHost, guardedLookup, isPublicAddress, publicLookup } from '../../src/core/address-guard.js'

describe('the address guard', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '203.0.113.9',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:1::1',
    '2001:db8::1',
    'localhost',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('lets %s through', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://127.1/',
    'http://017700000001/',
  ])('sees through %s', (url) => {
    expect(() => assertPublicHost(new URL(url))).toThrow(/not public/)
  })

  it('refuses a name that leads to loopback, when it is looked up', async () => {
    const fault = await new Promise((resolve) => {
      publicLookup('localhost', {}, (error) => resolve(error?.code))
    })
    expect(fault).toBe('ERR_PRIVATE_ADDRESS')
  })

  it('trusts a name with public addresses alone, and none with a private one among them', async () => {
    const pub = { address: '93.184.215.14', family: 4 }
    const looked = (...addresses: { address: string; family: number }[]) => {
      const guarded = guardedLookup((_name, _options, callback) => callback(null, addresses))
      return new Promise((resolve) => {
        guarded('a.example', { all: true }, (error, found) => resolve(error?.code ?? found))
      })
    }
    expect(await looked(pub)).toEqual([pub])
    expect(await looked(pub, { address: '10.0.0.7', family: 4 })).toBe('ERR_PRIVATE_ADDRESS')
    expect(await looked({ address: '::1', family: 6 }, pub)).toBe('ERR_PRIVATE_ADDRESS')
    expect(await looked()).toBe('ERR_PRIVATE_ADDRESS')
  })
})
