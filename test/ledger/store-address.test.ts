import { chmodSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasPassword, parseStoreAddress, shownAddress } from '../../src/ledger/index.js'
import { tempFolder } from './temp-folder.js'

const here = userInfo().username
const at = (host: string, port = 5432) => ({ hosts: [{ host, port }], ssl: false })

describe('the address of a shared store', () => {
  it.each([
    ['postgres://jobs.example', { ...at('jobs.example'), user: here, database: here }],
    ['postgresql://me:p%40ss@h:7000/jobs', { ...at('h', 7000), user: 'me', password: 'p@ss', database: 'jobs' }],
    ['postgres://me@[::1]:7000/jobs?options=-c%20a%3Db', { ...at('::1', 7000), options: '-c a=b' }],
    ['postgres://me@/jobs?host=/run/postgresql', at('/run/postgresql')],
    ['postgres://%2Frun%2Fpostgresql/jobs', { ...at('/run/postgresql'), database: 'jobs' }],
    ['postgres://a,b:2,[::2]/j', { hosts: ['a', 'b', '::2'].map((host) => ({ host, port: host === 'b' ? 2 : 5432 })) }],
    ['postgres:///', { ...at('localhost'), user: here, database: here }],
    ['postgres://h?sslmode=require', { ssl: { rejectUnauthorized: false } }],
    ['postgres://h?sslmode=verify-full&sslrootcert=system', { ssl: { rejectUnauthorized: true } }],
    ['postgres://h?sslmode=verify-ca', { ssl: { checkServerIdentity: expect.any(Function) } }],
  ])('reads %s', (address, expected) => {
    expect(parseStoreAddress(address, {})).toMatchObject(expected)
  })

  it('takes from the environment what it does not say itself', () => {
    const env = { PGHOST: 'a,b', PGPORT: '7000', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd', PGSSLMODE: 'require' }
    const hosts = [
      { host: 'a', port: 7000 },
      { host: 'b', port: 7000 },
    ]
    const all = { hosts, user: 'u', password: 'p', database: 'd', ssl: { rejectUnauthorized: false } }
    expect(parseStoreAddress('postgres://', env)).toMatchObject(all)
    const named = parseStoreAddress('postgres://me:mine@h:1/j?sslmode=disable', env)
    expect(named).toEqual({ ...at('h', 1), user: 'me', password: 'mine', database: 'j' })
  })

  it.each([
    ['rediss://:secret@jobs.example', 'is not an address of PostgreSQL'],
    ['http://jobs.example', 'is not an address of PostgreSQL'],
    ['postgres://h:port/jobs', 'a port that is not between'],
    ['postgres://h/jobs?sslmode=prefer', 'sslmode=prefer is not supported'],
    ['postgres://h/jobs?replicas=2', 'an unknown parameter, replicas'],
    ['postgres://h/100%', 'a % that does not begin an escape'],
    ['postgres://h/jobs?sslmode=require&sslrootcert=/nowhere.pem', 'cannot be read'],
  ])('refuses %s', (address, message) => {
    const thrown = expect.objectContaining({
      code: 'ERR_STORE_ADDRESS',
      exitCode: 2,
      message: expect.stringContaining(message),
    })
    expect(() => parseStoreAddress(address, {})).toThrow(thrown)
  })

  it.each([
    ['postgres://me@h/jobs', false],
    ['postgres://h:1,i:2/jobs?passfile=/p', false],
    ['postgres://me:p@h:1,i:2/jobs', true],
    ['postgres://h/jobs?password=p', true],
    ['postgres://me:p@h/a b?c#d', true],
    ['redis://me:p@h', true],
  ])('knows whether %s has a password: %s', (address, expected) => {
    expect(hasPassword(address)).toBe(expected)
  })

  it('is shown without login and parameters', () => {
    expect(shownAddress('postgres://me:p@h:1,i/jobs?password=p')).toBe('postgres://h:1,i/jobs')
    expect(shownAddress('postgres://me@h')).toBe('postgres://h')
  })

  it('takes the password from a file that only its owner can read', () => {
    const file = join(tempFolder(), 'pass')
    writeFileSync(file, '# ours\nother:*:*:*:wrong\nh:7000:*:m\\:e:a\\:b\\\\c\n*:*:*:*:last\n', { mode: 0o600 })
    const password = (address: string, env = {}) => {
      const found = parseStoreAddress(address, env).password
      return typeof found === 'function' ? found() : found
    }
    expect(password(`postgres://m%3Ae@h:7000/j?passfile=${file}`)).toBe('a:b\\c')
    expect(password('postgres://me@h/j', { PGPASSFILE: file })).toBe('last')
    expect(password('postgres://me:own@h/j', { PGPASSFILE: file })).toBe('own')
    chmodSync(file, 0o644)
    expect(() => password('postgres://me@h/j', { PGPASSFILE: file })).toThrow('Other users can read')
    expect(() => password('postgres://me@h/j?passfile=/nowhere')).toThrow('cannot be read')
  })
})
