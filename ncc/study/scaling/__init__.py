"""How training a classifier of programs scales over ranks: runs of a sweep, each in processes of its own, and scores.

References: Hoefler and Belli 2015 ("Scientific benchmarking of parallel computing systems"); Bailey 1991 ("Twelve ways
to fool the masses when giving performance results on parallel computers").
"""
