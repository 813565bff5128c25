from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

kind = HistGradientBoostingClassifier if labels or METRIC == "mean_column_auc" else HistGradientBoostingRegressor
solve(lambda: kind(max_iter=120, learning_rate=0.06, max_leaf_nodes=20, l2_regularization=1.0, random_state=SEED))
