/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the Unix server's calls, as traces name them: the message id in defs/ux/bsd.defs less
 * SYS_BASE.
 */
#ifndef SYS_SYSCALL_H
#define SYS_SYSCALL_H

#define SYS_BASE 101000

#define SYS_fork              0
#define SYS_execve            1
#define SYS_exit              2
#define SYS_wait4             3
#define SYS_identity          4
#define SYS_getpid            5
#define SYS_getgroups         6
#define SYS_setgroups         7
#define SYS_setuid            8
#define SYS_setgid            9
#define SYS_setpgid           10
#define SYS_getrusage         11
#define SYS_task_by_pid       12
#define SYS_device_port       13
#define SYS_processes         14
#define SYS_reboot            15
#define SYS_thread_start      16
#define SYS_thread_exit       17
#define SYS_file_object       18
#define SYS_kill              20
#define SYS_thread_kill       21
#define SYS_sigaction         22
#define SYS_sigprocmask       23
#define SYS_sigpending        24
#define SYS_sigsuspend        25
#define SYS_sigaltstack       26
#define SYS_sigqueue          27
#define SYS_setitimer         28
#define SYS_open              30
#define SYS_close             31
#define SYS_read              32
#define SYS_read_long         33
#define SYS_write             34
#define SYS_write_long        35
#define SYS_lseek             36
#define SYS_stat              37
#define SYS_fstat             38
#define SYS_unlink            39
#define SYS_rmdir             40
#define SYS_mkdir             41
#define SYS_rename            42
#define SYS_link              43
#define SYS_readdir           44
#define SYS_chdir             45
#define SYS_getcwd            46
#define SYS_dup               47
#define SYS_dup2              48
#define SYS_fcntl             49
#define SYS_pipe              50
#define SYS_fsync             51
#define SYS_sync              52
#define SYS_chmod             53
#define SYS_fchmod            54
#define SYS_chown             55
#define SYS_truncate          56
#define SYS_ftruncate         57
#define SYS_utimes            58
#define SYS_access            59
#define SYS_umask             60
#define SYS_gprof_mon_switch  61
#define SYS_gprof_mon_dump    62
#define SYS_gprof_mon_status  63
#define SYS_gprof_mon_options 64
#define SYS_gprof_token       65
#define SYS_executable        66
#define SYS_set_name_server   67
#define SYS_name_server       68
#define SYS_stop_at_exec      69
#define SYS_symlink           70
#define SYS_readlink          71
#define SYS_mkfifo            72
#define SYS_seteuid           73
#define SYS_setegid           74
#define SYS_task_program      75
#define SYS_port_owner        76
#define SYS_task_life         77
#define SYS_name_server_next  78
#define SYS_sysctl            79
#define SYS_sysctl_names      80
#define SYS_getrlimit         81
#define SYS_setrlimit         82
#define SYS_ktrace            83
#define SYS_utrace            84
#define SYS_audit             85
#define SYS_auditon           86
#define SYS_auditctl          87
#define SYS_getaudit          88
#define SYS_setaudit          89
#define SYS_shm_open          90
#define SYS_shm_unlink        91
#define SYS_sem_open          92
#define SYS_sem_unlink        93
#define SYS_sem_wait          94
#define SYS_sem_post          95
#define SYS_sem_getvalue      96
#define SYS_sem_timedwait     97
#define SYS_named_next        98

#endif
