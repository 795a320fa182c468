// Goal: files of strangers, and names of files for strangers, are harmless: uploaded forms and the headers of downloads.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attachment } from '../src/http/file-name.ts'
import { readForm } from '../src/http/multipart.ts'

test('forms are parsed strictly', () => {
  const read = (body: string) => readForm(Buffer.from(body), 'b')
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const whole = read(`${part('a', '1')}${part('file', 'x\r\n--not the boundary')}--b--\r\n`)
  assert.equal(whole.fields.get('a'), '1')
  assert.equal(whole.file?.bytes.toString(), 'x\r\n--not the boundary')
  for (const body of [
    '',
    'x',
    '--b',
    '--b\r\n',
    part('a', '1'),
    `${part('a', '1')}--b`,
    '--bx\r\n\r\n--b--',
    `${part('a', '1')}${part('a', '2')}--b--`,
    `${part('file', '1')}${part('file', '2')}--b--`,
    `--b\r\nx: y\r\n\r\n1\r\n--b--`,
    `${part('a', 'x'.repeat(2000))}--b--`,
    `--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--`,
    `${Array.from({ length: 20 }, (_, at) => part(`p${at}`, '1')).join('')}--b--`,
  ]) {
    assert.throws(() => read(body), /invalid form/, body)
  }
})

test('a file name is safe for any workflow name', () => {
  assert.equal(attachment('Send Hello', '.workflow'), 'attachment; filename="Send Hello.workflow"')
  for (const name of [
    '../../etc/passwd',
    'a"; filename="b',
    'a\r\nx: y',
    '.hidden',
    'C:\\x',
    '',
    '𝄞'.repeat(300),
    '\ud800',
  ]) {
    const header = attachment(name, '.workflow')
    assert.match(
      header,
      /^attachment; filename="[^"\\/\r\n%:]*"(; filename\*=UTF-8''[A-Za-z0-9%._~-]+)?$/,
      name,
    )
    assert.doesNotMatch(header, /filename="\.|''\.|%2F|%5C|%0D/, name)
  }
})
