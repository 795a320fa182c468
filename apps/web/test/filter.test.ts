import assert from 'node:assert/strict'
import { test } from 'node:test'

import { nameFilter, parseFilter, queryFilter } from '../src/model/filter.ts'

const filterOf = (text: string, isAdministrator = false): string =>
  queryFilter(parseFilter(text, isAdministrator).terms, '')

test('words are searched in names, and a wildcard is kept', () => {
  assert.equal(filterOf('shop'), 'name==*shop*')
  assert.equal(filterOf('web* -vapp:old'), 'name==web*;containerName!=old')
  assert.equal(filterOf('vdc:lab'), 'vdcName==lab')
  assert.equal(filterOf('  '), '')
})

test('sizes have units', () => {
  assert.equal(filterOf('mem>4g'), 'memoryMB=gt=4096')
  assert.equal(filterOf('mem>4096'), 'memoryMB=gt=4096')
  assert.equal(filterOf('disk<1t'), 'diskMB=lt=1048576')
  assert.equal(filterOf('cpu:2'), 'numberOfCpus==2')
})

test('what is no filter is returned and not sent', () => {
  assert.deepEqual(parseFilter('colour:red mem>much web').unknown, ['colour:red', 'mem>much'])
  assert.equal(filterOf('colour:red web'), 'name==*web*')
})

test('columns of administrators need an administrator', () => {
  assert.deepEqual(parseFilter('host:host-7').unknown, ['host:host-7'])
  assert.equal(filterOf('host:host-7 org:blue', true), 'hostName==host-7;orgName==blue')
})

test('characters of the query language are escaped', () => {
  assert.equal(filterOf('name:a;b'), String.raw`name==a\;b`)
  assert.equal(nameFilter('(x'), String.raw`name==*\(x*`)
})

test('the status is a word of the query service', () => {
  assert.equal(queryFilter([], 'on'), 'status==POWERED_ON')
  assert.equal(queryFilter(parseFilter('a*').terms, 'off'), 'status==POWERED_OFF;name==a*')
})
