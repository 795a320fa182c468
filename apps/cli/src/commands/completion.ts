import { command } from '../command.ts'
import { completionScripts } from '../help/complete.ts'
import { Failure } from '../terminal/failure.ts'

export const completion = command({
  name: 'completion',
  asks: 'none',
  usage: 'SHELL',
  summary: 'print the completion script for bash or zsh: source <(skerry completion bash)',
  examples: ['skerry completion bash', 'skerry completion zsh'],
  next: 'add this line to ~/.bashrc: source <(skerry completion bash)',
  async run({ print }, { words: [shell = ''] }) {
    if (shell !== 'bash' && shell !== 'zsh') {
      throw new Failure('usage', `the shell must be bash or zsh, not ${shell}`, {
        hint: 'source <(skerry completion bash)',
      })
    }
    print(completionScripts[shell])
  },
})
