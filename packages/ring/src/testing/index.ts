export {
  SimulatedClient,
  SimulatedEtcd,
  type SimulatedEtcdOptions,
} from './simulated-etcd.ts';
