// node balancer-main.ts ADDRESS PORT HOST:PORT...: the balancer as a separate process, for labs that outlive the program that started them.
import { startBalancer } from './balancer.ts'

const [address = '', port, ...targets] = process.argv.slice(2)
await startBalancer({
  address,
  port: Number(port),
  targets: targets.map((target) => {
    const { hostname, port } = new URL(`tcp://${target}`)
    return { host: hostname, port: Number(port) }
  }),
})
