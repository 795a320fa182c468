import type { UnsupportedFeature } from '../src/parse/refused.ts'

/** One DSL construct with an example: shown in the reference, and checked by the tests. */
export interface Construct {
  readonly name: string
  readonly about: string
  /** Follows the head; contains `do:`, or is used as one task. */
  readonly example: string
  /** The name under which it is rejected; undefined: it is supported. */
  readonly refused?: UnsupportedFeature
}

export const functions = new Set([
  'skerry.vm.powerOn',
  'skerry.vm.powerOff',
  'skerry.vm.get',
  'skerry.vapp.get',
])

export const head = (dsl = '1.0.0'): string =>
  `document:\n  dsl: '${dsl}'\n  namespace: examples\n  name: example\n  version: '1.0.0'\n`

export const supported: readonly Construct[] = [
  {
    name: 'do',
    about: 'Tasks in sequence. The output of each is the input of the next.',
    example: `do:
  - both:
      do:
        - first:
            set: { colours: '\${ .colours + ["red"] }' }
        - second:
            set: { colours: '\${ .colours + ["blue"] }' }
`,
  },
  {
    name: 'set',
    about: 'Data with expressions in it. From DSL 1.0.1 also one expression for all of it.',
    example: `do:
  - shape:
      set:
        shape: circle
        size: '\${ .configuration.size }'
`,
  },
  {
    name: 'switch',
    about: 'The first matching case decides the next task; a case without `when` always matches.',
    example: `do:
  - look:
      switch:
        - on:
            when: .power == "on"
            then: stop
        - otherwise:
            then: end
  - stop:
      call: skerry.vm.powerOff
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'for',
    about:
      'Iterates over a list, as $item and $index or with custom names; `while` can end it early.',
    example: `do:
  - everyVm:
      for:
        each: vm
        in: .vms
        at: position
      while: .failed != true
      do:
        - start:
            call: skerry.vm.powerOn
            with: { vm: '\${ $vm }' }
`,
  },
  {
    name: 'fork',
    about:
      'Runs all branches concurrently; the output is the list of their outputs. With `compete` the first to end wins, and the others are canceled.',
    example: `do:
  - race:
      fork:
        compete: true
        branches:
          - one:
              wait: PT1S
          - other:
              wait: PT2S
`,
  },
  {
    name: 'try, catch, retry',
    about:
      'Catches errors by type, status or an expression; retries with constant, linear or exponential backoff, jitter and limits; then runs `do`.',
    example: `use:
  retries:
    patient:
      delay: PT2S
      backoff: { exponential: {} }
      jitter: { from: PT0S, to: PT1S }
      limit: { attempt: { count: 5 }, duration: PT5M }
do:
  - ask:
      try:
        - call:
            call: http
            with: { method: get, endpoint: 'https://status.example/vm/{vm}' }
      catch:
        errors:
          with:
            type: https://serverlessworkflow.io/spec/1.0.0/errors/communication
        as: problem
        when: '$problem.status != 404'
        retry: patient
        do:
          - note:
              set: { answer: '\${ $problem.title }' }
`,
  },
  {
    name: 'wait',
    about:
      'ISO 8601 or its parts, up to 366 days. Years and months are rejected: they have no fixed length.',
    example: `do:
  - rest:
      wait: { minutes: 5 }
`,
  },
  {
    name: 'listen',
    about:
      'Waits for events that are sent to this run: one, any of several, or all. The type is a literal; `source`, `subject` and `id` must be equal if given, `data` is an expression over the event’s data. The output is the list of events.',
    example: `do:
  - backup:
      listen:
        to:
          any:
            - with: { type: example.backup.done }
            - with: { type: example.backup.failed, data: .final == true }
`,
  },
  {
    name: 'listen to a user (skerry.interaction)',
    about:
      'The DSL leaves `metadata` to the runtime. A listen task for the one event `skerry.interaction` has its question there: title, text and a form as JSON Schema. The run is `waiting-signal` until a user answers; the answer must match the form and becomes the event’s data. With `approver: other` the user who started the run or owns its schedule cannot answer; the default is `anyone` who may run workflows.',
    example: `do:
  - agree:
      listen:
        to:
          one:
            with: { type: skerry.interaction }
      output:
        as: .[0]
      metadata:
        interaction:
          title: \${ "Restart " + .vm + "?" }
          form:
            type: object
            properties:
              go: { type: boolean, title: Restart it }
              reason: { type: string, maxLength: 200 }
            required: [go]
`,
  },
  {
    name: 'raise',
    about:
      'An RFC 7807 error, inline or named from `use.errors`. Its default instance is the place of the task.',
    example: `use:
  errors:
    tooFew:
      type: https://example.test/errors/too-few
      status: 409
      title: Too few VMs
do:
  - stop:
      raise: { error: tooFew }
`,
  },
  {
    name: 'run workflow',
    about:
      'Runs a workflow of the same organisation, in a given version or the latest. With `await: false` the task does not wait for it.',
    example: `do:
  - other:
      run:
        workflow:
          namespace: examples
          name: snapshot
          version: '1.0.0'
          input: { vapp: '\${ .vapp }' }
        await: true
`,
  },
  {
    name: 'call http',
    about:
      'Sent through the egress, which allows only servers on the organisation’s list and follows no redirects. Basic and bearer authentication, with secrets as expressions.',
    example: `use:
  authentications:
    mine:
      bearer: { token: '\${ $workflow.input.token }' }
input:
  schema:
    document:
      type: object
      properties:
        token: { type: string, format: password }
do:
  - ask:
      call: http
      with:
        method: post
        endpoint:
          uri: https://tickets.example/{project}/issues
          authentication: { use: mine }
        headers: { accept: application/json }
        body: { title: '\${ .title }' }
        output: response
`,
  },
  {
    name: 'call a built-in function',
    about:
      'Cloud API operations as `skerry.*`, on behalf of the user who started the run. Full list: [functions](workflow-functions.md).',
    example: `do:
  - start:
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'use.functions',
    about:
      'A named task, called with `with` as its input. It must not call itself, directly or indirectly.',
    example: `use:
  functions:
    greet:
      set: { text: '\${ "Hello " + .name }' }
do:
  - hello:
      call: greet
      with: { name: world }
`,
  },
  {
    name: 'then',
    about:
      '`continue`, `exit` (leave this list), `end` (end the workflow), or the name of a task in the same list.',
    example: `do:
  - first:
      set: { a: 1 }
      then: last
  - never:
      set: { a: 2 }
  - last:
      set: { b: '\${ .a }' }
      then: end
`,
  },
  {
    name: 'if',
    about: 'If false, the task is skipped and its output is its input.',
    example: `do:
  - perhaps:
      if: '\${ .power == "off" }'
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'input, output, export',
    about:
      'Schemas (inline JSON Schema) and transforms on the workflow and on each task; `export` sets $context.',
    example: `input:
  schema:
    format: json
    document:
      type: object
      properties:
        user: { type: object }
      required: [user]
  from: .user
output:
  as: '{ name: .name }'
do:
  - name:
      input: { from: .claims }
      set: { name: '\${ .subject }' }
      output: { as: { name: '\${ .name }' } }
      export: { as: '$context + { seen: .name }' }
`,
  },
  {
    name: 'timeout',
    about: 'On the workflow and on each task, inline or named from `use.timeouts`.',
    example: `use:
  timeouts:
    short: { after: PT10S }
timeout: { after: PT1H }
do:
  - start:
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
      timeout: short
`,
  },
]
